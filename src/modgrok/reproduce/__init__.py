"""The paper's figures and claims: what each needs to be trained, its numbers, its drawing, its verdict, the report."""
