package devcluster

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// State is the state of a cluster, as in the file state.json of its folder.
type State struct {
	// Ready reports whether every component is ready.
	Ready bool `json:"ready"`
	// Phase and Message give the reason if the cluster isn't ready.
	Phase   string `json:"phase"`
	Message string `json:"message"`
	// Temporary reports whether the cluster ends with the process that started it, as one of [Start] does.
	Temporary bool `json:"temporary"`
	// Version is the version of Kubernetes.
	Version string `json:"version"`
	// SupervisorPID is the id of the process that runs the components. It is 0 after the cluster has ended.
	SupervisorPID int `json:"supervisorPID"`
	// Server is the API server's URL.
	Server string `json:"server"`
	// Kubeconfig is the path of the administrator's kubeconfig file.
	Kubeconfig string `json:"kubeconfig"`
	// AuditLog is the path of the audit log; empty if the cluster keeps none.
	AuditLog string `json:"auditLog"`
	// Components are the parts of the control plane that the cluster was started with.
	Components []Component `json:"components"`
}

// Component is one part of the control plane.
type Component struct {
	// Name is one of the constants.
	Name string `json:"name"`
	// PID is the id of its process, 0 while it is stopped.
	PID int `json:"pid"`
	// Phase is its state in one word; Log is the path of its log file.
	Phase string `json:"phase"`
	Log   string `json:"log"`
}

// The names of the components.
const (
	Etcd              = "etcd"
	APIServer         = "apiserver"
	ControllerManager = "controller-manager"
)

// Has reports whether the cluster was started with the component of this name.
func (s State) Has(name string) bool {
	return slices.ContainsFunc(s.Components, func(c Component) bool { return c.Name == name })
}

// readState reads the state of the cluster in dir.
func readState(dir string) (State, error) {
	text, err := os.ReadFile(filepath.Join(dir, "state.json"))
	if err != nil {
		return State{}, fmt.Errorf("cluster: %w", err)
	}
	var state State
	if err := json.Unmarshal(text, &state); err != nil {
		return State{}, fmt.Errorf("cluster %s: state.json: %w", dir, err)
	}
	return state, nil
}
