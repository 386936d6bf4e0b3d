"""Around the grade: roster, the platform's gradebook, late work, what TAs add, the class page; nothing is graded."""
