package definition

import (
	"time"

	"github.com/operkit/operkit/tools/hooks/internal/limits"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Exec is a hook that is a program beside the operator. metacontroller doesn't have it.
type Exec struct {
	// Command is the program and its arguments. A program without a slash is searched in PATH.
	Command []string `json:"command"`
	// WorkingDir is the working folder, relative to the file of the definition; empty is the folder of the file.
	WorkingDir string `json:"workingDir,omitempty"`
	// Env is the environment, besides PATH, HOME, LANG and TMPDIR.
	Env   []EnvVar         `json:"env,omitempty"`
	Limit *metav1.Duration `json:"timeout,omitempty"`
	// Memory is how much memory each process may have; nil means the default.
	Memory *resource.Quantity `json:"memory,omitempty"`
	// KeepRunning: processes stay, and answer line by line. Processes is how many; zero means one.
	KeepRunning bool  `json:"keepRunning,omitempty"`
	Processes   int32 `json:"processes,omitempty"`
}

// EnvVar is a variable of the environment of a program.
type EnvVar struct {
	Name  string `json:"name"`
	Value string `json:"value,omitempty"`
}

// Timeout returns the time limit of a call.
func (e *Exec) Timeout() time.Duration {
	if e.Limit == nil {
		return limits.Timeout
	}
	return e.Limit.Duration
}

// maxProcesses is how many processes of a hook may stay.
const maxProcesses = 64

func (e *Exec) check(at *field.Path) (errs field.ErrorList) {
	if len(e.Command) == 0 || e.Command[0] == "" {
		errs = append(errs, field.Required(at.Child("command"), "name the program and its arguments, such as [python3, hook.py]"))
	}
	seen := map[string]bool{}
	for i, variable := range e.Env {
		name := at.Child("env").Index(i).Child("name")
		for _, fault := range validation.IsEnvVarName(variable.Name) {
			errs = append(errs, field.Invalid(name, variable.Name, fault))
		}
		if seen[variable.Name] {
			errs = append(errs, field.Duplicate(name, variable.Name))
		}
		seen[variable.Name] = true
	}
	if e.Timeout() <= 0 {
		errs = append(errs, field.Invalid(at.Child("timeout"), e.Limit.Duration.String(), "must be positive, such as 10s"))
	}
	if e.Memory != nil && e.Memory.Sign() <= 0 {
		errs = append(errs, field.Invalid(at.Child("memory"), e.Memory.String(), "must be positive, such as 512Mi"))
	}
	switch {
	case e.Processes < 0 || e.Processes > maxProcesses:
		errs = append(errs, field.Invalid(at.Child("processes"), e.Processes, "must be from 1 to 64"))
	case e.Processes > 0 && !e.KeepRunning:
		errs = append(errs, field.Forbidden(at.Child("processes"), "without keepRunning each call has a process of its own"))
	}
	return errs
}
