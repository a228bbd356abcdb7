// Package project holds the files of a new operator, and of a kind and a component that are added to one later.
//
// They are templates in the folder files, which looks like the project that it becomes: a path has the words KIND,
// PACKAGE, COMPONENT, API (the folder of the types), FOLDER (that of a controller) and CRD where names come that are
// given.
package project
