package main

import (
	"fmt"
	"strings"
)

// versionPackages are where Kubernetes' version is linked in; without it the server calls itself
// v0.0.0-master and refuses feature gates.
var versionPackages = []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"}

// environment returns the contents of build.env: the variables that go build, go vet and go test
// need. Different ones in one of them would compile all of Kubernetes a second time. Nothing reads debug
// information, which the linker leaves out of the program (-s -w): to make it would take the compiler a quarter longer.
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
