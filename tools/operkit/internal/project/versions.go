package project

import (
	"fmt"

	"golang.org/x/mod/modfile"
)

// The modules that a new project requires directly. They require all others.
const (
	Operator        = "github.com/operkit/operkit/operator/full"
	Envtest         = "github.com/operkit/operkit/tools/envtest"
	ControllerTools = "sigs.k8s.io/controller-tools"
)

// clientGo is the module with the apply configurations, which components import.
const clientGo = "k8s.io/client-go"

// linter is the version of golangci-lint that a new project uses: the same as the repository.
const linter = "v2.15.0"

// unreleased is the version that a go.mod of the repository states for other modules of the repository.
const unreleased = "v0.0.0"

// Versions are the versions of Go and of the modules that a project requires.
type Versions struct {
	Go, Operator, Envtest, ControllerTools string
}

// VersionsOf reads the Versions from the text of a go.mod. A module that isn't released has the version "latest".
func VersionsOf(gomod []byte) (Versions, error) {
	file, err := modfile.ParseLax("go.mod", gomod, nil)
	if err != nil {
		return Versions{}, err
	}
	required := map[string]string{}
	for _, one := range file.Require {
		required[one.Mod.Path] = one.Mod.Version
	}
	for _, path := range []string{Operator, Envtest, ControllerTools} {
		switch required[path] {
		case "":
			return Versions{}, fmt.Errorf("go.mod: requires no %s", path)
		case unreleased:
			required[path] = "latest"
		}
	}
	if file.Go == nil {
		return Versions{}, fmt.Errorf("go.mod: has no line with the version of Go")
	}
	return Versions{file.Go.Version, required[Operator], required[Envtest], required[ControllerTools]}, nil
}
