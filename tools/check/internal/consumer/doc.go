// Package consumer finds what an importer of a module of the repository compiles without a workspace: the packages
// that can be imported, all that they import in turn, and the modules that these come from.
//
// Imports of tests are left out, because importers do not compile tests.
package consumer
