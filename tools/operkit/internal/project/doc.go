// Package project holds the files of a new operator, and of what is added to an operator later: kinds, components, webhooks
// and conversions.
//
// They are templates in the folder files, which has the layout of the project. The words KIND, PACKAGE, COMPONENT, API
// (the folder of the types), FOLDER (the folder of a controller) and CRD in a path are replaced by names.
package project
