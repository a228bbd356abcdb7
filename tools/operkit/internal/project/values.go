package project

import (
	"fmt"
	"path"
	"strings"

	"github.com/operkit/operkit/tools/operkit/internal/convert"
	"github.com/operkit/operkit/tools/operkit/internal/name"
)

// image is the image of the Pods of a new kind, until its author chooses another one. It runs as a user without
// privileges and listens on port 8080.
const image = "nginxinc/nginx-unprivileged:1.29"

// Values are the values for the templates.
type Values struct {
	// Name is the name of the operator, Module the path of its Go module.
	Name, Module string
	// Kind, Group and Version identify the resource. API is the folder of its Go types, and Package the Go package of
	// its controller.
	Kind, Group, Version, API, Package string
	// Empty means that the kind has neither fields nor the component server.
	Empty bool
	// Component is the name of a component, Type its Go type, Test its test, and Folder the folder of the controller
	// that it is added to. Labels reports whether the controller's package has a function for the labels of objects.
	Component, Type, Test, Folder string
	Labels                        bool
	// Controlled reports whether the package with the webhooks of a kind has its controller, as init writes it.
	Controlled bool
	// Spokes are the versions of the kind that are converted to Version, which is the hub.
	Spokes []Spoke
	// Versions are the versions that a project requires.
	Versions
}

// Spoke is a version of a kind that is converted to another one, the hub. API is the folder of its Go types.
type Spoke struct{ Version, API string }

// Add returns the line of Go that adds the functions of a version to a converter. The arguments are names in the file: of
// the converter, of package conversion, and of the packages of the version and of the hub.
func (s Spoke) Add(converter, conversion, kind, version, hub string) string {
	up, down := convert.Names(s.Version)
	return fmt.Sprintf("%s.Add(%s, %s.%sKind, %s.Functions[%s.%s, %s.%s]{Up: %s, Down: %s})",
		conversion, converter, version, kind, conversion, version, kind, hub, kind, up, down)
}

// Singular returns the name of the kind in lower case.
func (v Values) Singular() string { return name.Singular(v.Kind) }

// Plural returns the plural name of the kind.
func (v Values) Plural() string { return name.Plural(v.Kind) }

// CRD returns the file name of the definition, without ".yaml".
func (v Values) CRD() string { return v.Group + "_" + v.Plural() }

// FromAPI returns the relative path from the folder of the Go types to the root.
func (v Values) FromAPI() string {
	return strings.TrimSuffix(strings.Repeat("../", strings.Count(path.Clean(v.API), "/")+1), "/")
}

// Pattern returns the pattern, relative to the folder of the Go types, of all folders with Go types: definitions are made
// from all versions of a kind at once.
func (v Values) Pattern() string {
	if strings.HasPrefix(v.API, "api/") {
		return v.FromAPI() + "/api/..."
	}
	return "../..."
}

// GoMinor returns the version of Go without the patch number.
func (v Values) GoMinor() string {
	parts := strings.SplitN(v.Go, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// NextVersion returns a version that may follow the version of the kind.
func (v Values) NextVersion() string { return name.NextVersion(v.Version) }

// Linter returns the version of golangci-lint.
func (Values) Linter() string { return linter }

// Image returns the image of the Pods of a new kind.
func (Values) Image() string { return image }

// StatusSchema returns the schema of the status, as JSON on one line.
func (v Values) StatusSchema() (string, error) { return statusSchema(v) }
