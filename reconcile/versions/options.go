package versions

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/operkit/operkit/deploy"
)

// Options are the settings of Start. Directory and Entry are required; the zero values of all others mean the defaults.
type Options struct {
	// Directory holds a folder for each version, and Entry is the path of the program in it:
	// <Directory>/<version>/<Entry>. Folders without the program, or whose names begin with a dot, are ignored.
	Directory, Entry string
	// Arguments are the arguments of the program; default "serve-version", the command by which a binary of package
	// operator/full serves.
	Arguments []string
	// Environment is the environment of the program, each "KEY=value"; default the manager's own.
	Environment []string
	// Limit bounds the versions that run at once; default 8. A further version replaces the one that has been unused
	// for longest. Limit should be at least the number of versions in use.
	Limit int
	// Idle is the time after which an unused version is stopped; default 15 minutes. It should be longer than
	// reconcile.Period, after which resources are reconciled without an event.
	Idle time.Duration
	// StartTimeout is how long a program may take to answer the first call; default 30 seconds. StopTimeout is how long
	// a program may take to exit before it is killed; default 5 seconds.
	StartTimeout, StopTimeout time.Duration
	// Logger receives the log lines of versions, with the attribute "version"; default slog.Default.
	Logger *slog.Logger
	// KeyDomain, FieldManager, DefaultNamespace and NameObjects must be the operator's settings (deploy.KeyDomain,
	// deploy.FieldManager, deploy.DefaultNamespace, reconcile.NameObjects).
	KeyDomain, FieldManager, DefaultNamespace string
	NameObjects                               bool
}

func (o Options) withDefaults() (Options, error) {
	switch {
	case o.Directory == "":
		return o, errors.New("versions: no directory is given")
	case o.Entry == "":
		return o, errors.New("versions: no entry is given: it is the path of the program below the folder of each version")
	case !filepath.IsLocal(o.Entry):
		return o, fmt.Errorf("versions: entry %q: must be a path below the folder of each version", o.Entry)
	case o.Limit < 0 || o.Idle < 0 || o.StartTimeout < 0 || o.StopTimeout < 0:
		return o, errors.New("versions: limit and times can't be negative")
	}
	directory, err := filepath.Abs(o.Directory)
	if err != nil {
		return o, fmt.Errorf("versions: directory %q: %w", o.Directory, err)
	}
	o.Directory = directory
	if o.Arguments == nil {
		o.Arguments = []string{"serve-version"}
	}
	o.Limit = cmp.Or(o.Limit, 8)
	o.Idle = cmp.Or(o.Idle, 15*time.Minute)
	o.StartTimeout = cmp.Or(o.StartTimeout, 30*time.Second)
	o.StopTimeout = cmp.Or(o.StopTimeout, 5*time.Second)
	o.KeyDomain = cmp.Or(o.KeyDomain, deploy.Domain)
	o.FieldManager = cmp.Or(o.FieldManager, "operkit")
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o, nil
}
