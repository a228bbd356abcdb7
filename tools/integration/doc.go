// Package integration is the home of tests that need a control plane and something that the module under test must not
// import: a client, or a second ground room. Each of its packages is named for what it looks at and holds tests only.
//
// Put a test here when the module whose promise it checks may not link what the test needs. Tests that need only what
// their module has anyway belong into that module, next to the code.
package integration
