package playbook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/operkit/operkit/tools/hooks/internal/process"
	"github.com/operkit/operkit/tools/hooks/internal/watches"
)

const (
	// Timeout is the time of a run without another limit.
	Timeout = 30 * time.Minute
	// Python is the interpreter of modules without another one.
	Python = "/usr/bin/python3"
	// command is the program without another one.
	command = "ansible-playbook"
)

// Config says how runs are made. Only Folder is required.
type Config struct {
	// Folder is where runs have their files while they run, and where their artifacts are kept. It is made if it doesn't
	// exist. Two Runners can't have the same folder, and other users must not be able to write it.
	Folder string
	// Command is the program ansible-playbook, searched in PATH if it has no slash. Empty means ansible-playbook.
	Command string
	// Python is the interpreter that runs Ansible's modules. It needs the module kubernetes for those of kubernetes.core.
	// Empty means the constant Python.
	Python string
	// Arguments are further arguments of ansible-playbook, such as --tags.
	Arguments []string
	// Env are further variables of the environment of runs, each in the form NAME=value. They win over others.
	Env []string
	// Lookup returns the variables of the environment, of which runs inherit some. nil means os.LookupEnv.
	Lookup watches.Lookup
	// Timeout bounds the time of a run. Zero means the constant Timeout.
	Timeout time.Duration
	// Memory bounds the memory in which a process may write, in bytes, for each process of a run alone. Zero means
	// process.Memory.
	Memory int64
	// Now returns the time. nil means time.Now.
	Now func() time.Time
}

// Runner runs playbooks and roles. It is safe for concurrent use.
type Runner struct {
	config Config
	// lock keeps the folder for this Runner.
	lock *os.File
}

// New returns a Runner. What runs of an earlier process have left in the folder because that was killed is deleted, and
// their processes are ended. A program that isn't there is an error.
func New(config Config) (*Runner, error) {
	if config.Folder == "" {
		return nil, errors.New("playbook: no folder: set Config.Folder")
	}
	if config.Timeout < 0 || config.Memory < 0 {
		return nil, errors.New("playbook: negative limit")
	}
	folder, err := filepath.Abs(config.Folder)
	if err != nil {
		return nil, fmt.Errorf("playbook: folder: %w", err)
	}
	config.Folder = folder
	config.setDefaults()
	found, err := exec.LookPath(config.Command)
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err != nil {
		return nil, fmt.Errorf("playbook: %w: install Ansible (package ansible), or set another program", err)
	}
	config.Command = found
	r := &Runner{config: config}
	if r.lock, err = own(folder); err != nil {
		return nil, fmt.Errorf("playbook: folder of runs: %w", err)
	}
	if err := errors.Join(r.clear(), os.MkdirAll(r.running(), 0o700)); err != nil {
		return nil, fmt.Errorf("playbook: folder of runs: %w", err)
	}
	return r, nil
}

func (c *Config) setDefaults() {
	if c.Command == "" {
		c.Command = command
	}
	if c.Python == "" {
		c.Python = Python
	}
	if c.Lookup == nil {
		c.Lookup = os.LookupEnv
	}
	if c.Timeout == 0 {
		c.Timeout = Timeout
	}
	if c.Memory == 0 {
		c.Memory = process.Memory
	}
	if c.Now == nil {
		c.Now = time.Now
	}
}

// clear ends and deletes what runs have left.
func (r *Runner) clear() error {
	entries, err := os.ReadDir(r.running())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		process.EndMarked(folder(filepath.Join(r.running(), entry.Name())).marker())
	}
	return errors.Join(err, removeAll(r.running()))
}

// running returns the folder with the folders of runs that haven't ended.
func (r *Runner) running() string { return filepath.Join(r.config.Folder, "running") }
