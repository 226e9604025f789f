"""Papers made runnable: studies, claims with verdicts, figures and a report for each."""
