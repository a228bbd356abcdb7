package component

import (
	"fmt"
	"slices"
	"strings"
)

// Name is the short name of a component, which flags, log files and the state file use.
type Name string

// The components of a cluster.
const (
	Etcd              Name = "etcd"
	APIServer         Name = "apiserver"
	ControllerManager Name = "controller-manager"
	Scheduler         Name = "scheduler"
	Kwok              Name = "kwok"
)

// programs maps each component to the program name that starts it, as argv[0] or first argument.
var programs = map[Name]string{
	Etcd:              "etcd",
	APIServer:         "kube-apiserver",
	ControllerManager: "kube-controller-manager",
	Scheduler:         "kube-scheduler",
	Kwok:              "kwok",
}

// All returns every component in the order in which they are started.
func All() Set {
	return Set{Etcd, APIServer, ControllerManager, Scheduler, Kwok}
}

// Program returns the name of the program that runs the component, such as kube-apiserver.
func (n Name) Program() string { return programs[n] }

// Parse returns the component of that name. It accepts the program's name (kube-scheduler) and the short name
// (scheduler).
func Parse(s string) (Name, error) {
	for _, n := range All() {
		if s == string(n) || s == n.Program() {
			return n, nil
		}
	}
	return "", fmt.Errorf("component %q is unknown: choose from %s", s, All())
}

// Set is a list of components in the order in which they are started.
type Set []Name

// ParseSet parses component names and sorts them into the order of their start. Duplicates count once. Without names it
// returns all components. A set without etcd and the apiserver is an error: nothing else can run without them.
func ParseSet(names []string) (Set, error) {
	if len(names) == 0 {
		return All(), nil
	}
	wanted := map[Name]bool{}
	for _, s := range names {
		n, err := Parse(strings.TrimSpace(s))
		if err != nil {
			return nil, err
		}
		wanted[n] = true
	}
	for _, needed := range []Name{Etcd, APIServer} {
		if !wanted[needed] {
			return nil, fmt.Errorf("components %s: %s is missing, every cluster needs etcd and apiserver",
				strings.Join(names, ","), needed)
		}
	}
	return slices.DeleteFunc(All(), func(n Name) bool { return !wanted[n] }), nil
}

// Has reports whether the set contains n.
func (s Set) Has(n Name) bool { return slices.Contains(s, n) }

// String returns the names joined by commas, in the form of the flag --components.
func (s Set) String() string {
	names := make([]string, len(s))
	for i, n := range s {
		names[i] = string(n)
	}
	return strings.Join(names, ",")
}
