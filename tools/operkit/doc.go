// Command operkit writes a new Kubernetes operator, adds kinds, components, webhooks and versions to one, and updates it:
//
//	operkit init guestbook-operator --kind Guestbook --group example.com
//	operkit add component cache --after server
//	operkit add kind Backup
//	operkit add webhook Guestbook
//	operkit add version Guestbook v2
//	operkit update
//
// It is run by `go run github.com/operkit/operkit/tools/operkit@latest`, or installed by `go install`. `operkit init
// --help` and README.md describe what it writes.
package main
