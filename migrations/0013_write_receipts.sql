CREATE TABLE `write_receipt` (
	`key` text PRIMARY KEY NOT NULL,
	`changes` integer NOT NULL,
	`row_id` integer NOT NULL
) WITHOUT ROWID;
