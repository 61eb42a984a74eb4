-- Reserved. The change that has this number replaces this file by its own.
SELECT;
