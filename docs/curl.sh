# For the shell lines of README.md and docs/: run `. docs/curl.sh` in the folder of the repository while `npm start` runs.
#   API, KEY, SIMULATORS       addresses and API key of the local service
#   call ARGUMENTS...          sends a request with the key, by curl, and prints the answer
#   field NAME                 prints a field of the last answer: field id, field contact.id, field runs.0.id
#   wait_for TEXT ARGUMENTS... calls once a second until the answer has the text, for 90 seconds at most

CREDENTIALS=$(npm run --silent credentials)

request() { curl -s -H "X-API-Key: $KEY" -H 'Content-Type: application/json' "$@"; }

call() {
  ANSWER=$(request "$@")
  printf '%s\n' "$ANSWER"
}

field() {
  printf '%s' "$ANSWER" | node -e '
    const answer = JSON.parse(require("fs").readFileSync(0));
    const value = process.argv[1].split(".").reduce((part, name) => part?.[name], answer);
    if (value === undefined) throw new Error(`the last answer has no ${process.argv[1]}`);
    console.log(typeof value === "object" ? JSON.stringify(value) : value);' "$1"
}

wait_for() {
  TEXT=$1
  shift
  for SECOND in $(seq 90); do
    ANSWER=$(request "$@")
    if printf '%s' "$ANSWER" | grep -qE "$TEXT"; then break; fi
    sleep 1
  done
  printf '%s\n' "$ANSWER"
}

ANSWER=$CREDENTIALS
API=$(field base_url)
KEY=$(field api_key)
SIMULATORS=$(field simulators_url)
