package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
)

// Phase is the phase of a cluster or of a component.
type Phase string

// The phases. A cluster is Degraded while one of its components is stopped or doesn't respond.
const (
	Starting Phase = "starting"
	Ready    Phase = "ready"
	Degraded Phase = "degraded"
	Stopping Phase = "stopping"
	Stopped  Phase = "stopped"
	Failed   Phase = "failed"
)

// State describes one cluster. Ready is true only while every component is healthy, the fake node is Ready, and the
// default ServiceAccount exists. Temporary is true for a cluster that ends with the process that started it.
type State struct {
	Phase         Phase       `json:"phase"`
	Ready         bool        `json:"ready"`
	Temporary     bool        `json:"temporary,omitempty"`
	Message       string      `json:"message,omitempty"`
	Version       string      `json:"version"`
	SupervisorPID int         `json:"supervisorPID"`
	Server        string      `json:"server"`
	Kubeconfig    string      `json:"kubeconfig"`
	AuditLog      string      `json:"auditLog,omitempty"`
	ControlSocket string      `json:"controlSocket"`
	Components    []Component `json:"components"`
}

// Component describes one component. PID is 0 while no process runs.
type Component struct {
	Name  component.Name `json:"name"`
	PID   int            `json:"pid"`
	Phase Phase          `json:"phase"`
	Log   string         `json:"log"`
}

// Read reads a state file. The error is fs.ErrNotExist if there is no file.
func Read(path string) (State, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return State{}, fmt.Errorf("state: %w", err)
	}
	var s State
	if err := json.Unmarshal(raw, &s); err != nil {
		return State{}, fmt.Errorf("state %s: %w", path, err)
	}
	return s, nil
}

// Write replaces the state file atomically: a reader sees the old or the new contents, never a part.
func Write(path string, s State) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return fmt.Errorf("state %s: %w", path, err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".state-*")
	if err != nil {
		return fmt.Errorf("state %s: %w", path, err)
	}
	_, writeErr := temporary.Write(append(raw, '\n'))
	if err := errors.Join(writeErr, temporary.Close()); err != nil {
		_ = os.Remove(temporary.Name())
		return fmt.Errorf("state %s: %w", path, err)
	}
	if err := os.Rename(temporary.Name(), path); err != nil {
		_ = os.Remove(temporary.Name())
		return fmt.Errorf("state %s: %w", path, err)
	}
	return nil
}

// Ended returns the state with every component stopped, for the time after the supervisor has ended.
func (s State) Ended(phase Phase, message string) State {
	s.Phase, s.Ready, s.Message, s.SupervisorPID = phase, false, message, 0
	components := make([]Component, len(s.Components))
	for i, c := range s.Components {
		c.PID, c.Phase = 0, Stopped
		components[i] = c
	}
	s.Components = components
	return s
}

// MarkKilled records in the state file that the supervisor with that process id was killed, and returns the previous
// state. If the file doesn't exist, or another supervisor has written it since, MarkKilled changes nothing and returns
// the zero State.
func MarkKilled(path string, supervisorPID int) (State, error) {
	s, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	if s.SupervisorPID != supervisorPID {
		return State{}, nil
	}
	return s, Write(path, s.Ended(Failed, "the supervisor was killed"))
}
