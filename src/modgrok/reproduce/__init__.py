"""Papers made again: what their figures and claims need to be trained, numbers, drawings, verdicts, the report.

The modules here know no paper; each folder is one, and gives its studies, claims and profiles as a `Paper`.
"""
