-- Numbers of Brazil without the ninth digit and of Argentina without the 9 get the spelling that numbers are now read as. Where both spellings
-- of a number are stored, the older one stays beside the other: two records are never made one.
UPDATE OR IGNORE contact SET phone = substr(phone, 1, 5) || '9' || substr(phone, 6)
WHERE phone GLOB '+55[1-9][1-9][6-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]';
--> statement-breakpoint
UPDATE OR IGNORE contact SET phone = '+549' || substr(phone, 4)
WHERE phone GLOB '+54[1-3][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]';
--> statement-breakpoint
UPDATE OR IGNORE suppression SET phone = substr(phone, 1, 5) || '9' || substr(phone, 6)
WHERE phone GLOB '+55[1-9][1-9][6-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]';
--> statement-breakpoint
UPDATE OR IGNORE suppression SET phone = '+549' || substr(phone, 4)
WHERE phone GLOB '+54[1-3][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]';
