// Package manifest writes the YAML files in the folder config of an operator: CustomResourceDefinitions in the format
// of controller-gen, and lines added to files that people edit.
//
// A line is inserted as text. If the parsed result isn't the former content plus that line, the file isn't changed, and
// the error is ErrNoPlace.
package manifest
