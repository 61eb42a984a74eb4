"""What Postfix speaks and writes: its log, queue, policy delegation and socketmap protocols."""
