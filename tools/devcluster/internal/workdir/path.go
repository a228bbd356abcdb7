package workdir

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/operkit/operkit/tools/devcluster/internal/component"
)

// Environment names the variable that holds the cluster directory used when none is given.
const Environment = "OPERKIT_DEVCLUSTER"

const (
	lockName = "devcluster.lock"
	pkiName  = "pki"
	logsName = "logs"
	runName  = "run"
	etcdName = "etcd"
)

// Dir is the absolute path of a cluster directory. Its methods name the files in it.
type Dir string

// Resolve returns the cluster directory: path as an absolute path; if it is empty, $OPERKIT_DEVCLUSTER; if that isn't
// set either, the default directory in the user's cache.
func Resolve(path string) (Dir, error) {
	if path == "" {
		path = os.Getenv(Environment)
	}
	if path == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("cluster directory: give one with --dir or $%s: %w", Environment, err)
		}
		path = filepath.Join(cache, "operkit", "clusters", "default")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("cluster directory %s: %w", path, err)
	}
	return Dir(absolute), nil
}

// Kubeconfig is the administrator's client configuration.
func (d Dir) Kubeconfig() string { return d.file("kubeconfig") }

// State is the file that package state reads and writes.
func (d Dir) State() string { return d.file("state.json") }

// AuditLog is where the API server writes its audit events.
func (d Dir) AuditLog() string { return d.file("audit.log") }

// ControlSocket is the socket that package control serves.
func (d Dir) ControlSocket() string { return d.file("control.sock") }

// Log is the log file of a component.
func (d Dir) Log(n component.Name) string { return d.file(logsName, string(n)+".log") }

// Logs is the folder of all logs.
func (d Dir) Logs() string { return d.file(logsName) }

// SupervisorLog is where a detached supervisor writes.
func (d Dir) SupervisorLog() string { return d.file(logsName, "supervisor.log") }

// PKI is a file in the folder of keys and certificates.
func (d Dir) PKI(name string) string { return d.file(pkiName, name) }

// Run is the working directory of the components: their sockets and configuration files.
func (d Dir) Run() string { return d.file(runName) }

// RunFile is a file in Run.
func (d Dir) RunFile(name string) string { return d.file(runName, name) }

// EtcdData is etcd's data directory.
func (d Dir) EtcdData() string { return d.file(etcdName) }

func (d Dir) lock() string { return d.file(lockName) }

func (d Dir) file(elements ...string) string {
	return filepath.Join(append([]string{string(d)}, elements...)...)
}

// contents lists the files that a start removes: everything that a cluster writes, except for the lock.
func (d Dir) contents() []string {
	return []string{d.Kubeconfig(), d.State(), d.AuditLog(), d.ControlSocket(),
		d.file(pkiName), d.file(logsName), d.file(runName), d.file(etcdName)}
}
