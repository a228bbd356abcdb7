// Package integration has the tests that need a control plane and a package that the module under test must not import:
// a client, or a second ground room. Each of its packages is named for what it tests, and has only tests.
//
// Put a test here if the module under test may not link a package that the test needs. All other tests belong in the
// module itself, next to the code.
package integration
