-- placeholder, local only
SELECT 1;
