// Command operkit writes a new Kubernetes operator, and adds kinds and components to one:
//
//	operkit init guestbook-operator --kind Guestbook --group example.com
//	operkit add component cache --after server
//	operkit add kind Backup
//
// It is run by `go run github.com/operkit/operkit/tools/operkit@latest`, or installed by `go install`. `operkit init
// --help` and README.md describe what it writes.
package main
