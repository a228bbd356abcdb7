// Package docs checks that what the modules of the repository offer is documented: every exported identifier has a
// comment, every entry point an Example whose output is checked, every package a doc.go, every module a README, and
// every module that the table in the top README offers a changelog.
//
// What counts as an entry point is every exported function and type of a package that other modules can import, and
// every exported method of such a type. Left out are the methods of interfaces, which are shown by what implements or
// calls them, those that the standard library calls by convention (Error, String, MarshalJSON and their like), and what
// a generator wrote.
//
// An entry point has an Example when the package's own tests hold one that is named for it or that uses it, in its body
// or in the declarations of the test package which the body uses. A type is used too when a value of it is given to a
// function or comes out of one, an interface when one of these declarations is a type that implements it, and a method
// when a value is given as an interface that has it.
package docs
