"""How we speak to mail software, without product rules: what stands here could serve any mail program."""
