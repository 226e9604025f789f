"""What was found later about networks like the paper's: margins, wrong labels, and machines that learn features."""
