// Command operkit writes a new Kubernetes operator, adds kinds and components to one, and updates it:
//
//	operkit init guestbook-operator --kind Guestbook --group example.com
//	operkit add component cache --after server
//	operkit add kind Backup
//	operkit update
//
// It is run by `go run github.com/operkit/operkit/tools/operkit@latest`, or installed by `go install`. `operkit init
// --help` and README.md describe what it writes.
package main
