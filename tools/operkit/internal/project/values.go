package project

import (
	"path"
	"strings"

	"github.com/operkit/operkit/tools/operkit/internal/name"
)

// image is what the Pods of a new kind run, until its author knows better. It needs no rights and listens on port 8080.
const image = "nginxinc/nginx-unprivileged:1.29"

// Values are what the templates are filled in with.
type Values struct {
	// Name is that of the operator, Module the Go module it is in.
	Name, Module string
	// Kind, Group and Version are those of the resource, API the folder of its Go types, and Package the Go package of
	// its controller.
	Kind, Group, Version, API, Package string
	// Component is the name of a component, Type its Go type and Test its test, and Folder that of the controller it is
	// added to. Labels tells that there is a function that gives its objects labels.
	Component, Type, Test, Folder string
	Labels                        bool
	// Versions are those of what a project requires.
	Versions
}

// Singular is how a resource is called in lower case.
func (v Values) Singular() string { return name.Singular(v.Kind) }

// Plural is how resources are called.
func (v Values) Plural() string { return name.Plural(v.Kind) }

// CRD is the file of the definition, without ".yaml".
func (v Values) CRD() string { return v.Group + "_" + v.Plural() }

// FromAPI is the way from the folder of the Go types to the root.
func (v Values) FromAPI() string {
	return strings.TrimSuffix(strings.Repeat("../", strings.Count(path.Clean(v.API), "/")+1), "/")
}

// GoMinor is the version of Go without its patch.
func (v Values) GoMinor() string {
	parts := strings.SplitN(v.Go, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// Image is what the Pods of a new kind run.
func (Values) Image() string { return image }

// StatusSchema is the schema of the status, as JSON on one line.
func (Values) StatusSchema() (string, error) { return statusSchema() }
