// Package consumer knows what somebody compiles who imports a module of the repository and has no workspace: the
// packages that can be imported, all that they reach, and the modules that these come from.
//
// Tests are left out: they are compiled by nobody but us.
package consumer
