package main

import (
	"fmt"
	"strings"
)

// versionPackages are the packages whose variables the linker sets to Kubernetes' version. Without it the server calls
// itself v0.0.0-master and refuses feature gates.
var versionPackages = []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"}

// environment returns the contents of build.env: the variables that go build, go vet and go test need. If one of them
// had other variables, it would compile all of Kubernetes a second time. The compiler writes no debug information,
// which saves a fifth of its time: the linker leaves it out of the program anyway (-s -w).
func environment(version string) (string, error) {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) != 3 {
		return "", fmt.Errorf("version %q of %s is not of the form v1.MINOR.PATCH", version, kubernetes)
	}
	ldflags := []string{"-s", "-w"}
	for _, path := range versionPackages {
		for _, variable := range [][2]string{
			{"gitVersion", version}, {"gitMajor", parts[0]}, {"gitMinor", parts[1]},
			{"gitCommit", "unknown"}, {"gitTreeState", "clean"},
		} {
			ldflags = append(ldflags, "-X", path+"."+variable[0]+"="+variable[1])
		}
	}
	return fmt.Sprintf("CGO_ENABLED=0\nGOWORK=off\nGOFLAGS=\"-trimpath -buildvcs=false -gcflags=all=-dwarf=false '-ldflags=%s'\"\n", strings.Join(ldflags, " ")), nil
}
