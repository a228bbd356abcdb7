// Package docs checks that the public parts of the modules are documented: every exported identifier has a comment,
// every entry point an Example whose output is checked, every package a doc.go, every module a README, and every module
// in the table of the top README a changelog.
//
// An entry point is an exported function or type of a package that other modules can import, or an exported method of
// such a type. These don't count: methods of interfaces, which the examples of their implementations and callers show;
// methods that the standard library calls by convention, such as Error, String and MarshalJSON; and generated code.
//
// An entry point has an Example if an example in the package's external tests is named for it or uses it, in the body
// or in declarations of the test package that the body uses. A type also counts as used if a value of it is passed to a
// function or returned by one. An interface counts as used if one of these declarations is a type that implements it. A
// method counts as used if a value is passed as an interface with that method.
package docs
