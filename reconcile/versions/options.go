package versions

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/operkit/operkit/deploy"
)

// Options are where the versions are and how they run. Directory and Entry are required; zero values of all others are
// the defaults.
type Options struct {
	// Directory holds a folder for each version, and Entry is the path of the program in it:
	// <Directory>/<version>/<Entry>. Folders without the program are no versions, nor are those whose names begin with
	// a dot.
	Directory, Entry string
	// Arguments are those of the program; default "serve-version", the command by which a binary of package
	// operator/full serves.
	Arguments []string
	// Environment is that of the program, "KEY=value" each; default the manager's own.
	Environment []string
	// Limit is how many versions run at once at most; default 8. A further version takes the place of the one that is
	// unused for longest. It should be at least the number of versions in use.
	Limit int
	// Idle is how long a version runs that isn't used; default 15 minutes. It should be longer than the period in which
	// resources are reconciled by themselves (reconcile.Period).
	Idle time.Duration
	// StartTimeout is how long a program may take until it answers; default 30 seconds. StopTimeout is how long it may
	// take to end before it is killed; default 5 seconds.
	StartTimeout, StopTimeout time.Duration
	// Logger receives the log lines of versions, with the attribute "version"; default slog.Default.
	Logger *slog.Logger
	// KeyDomain, FieldManager, DefaultNamespace and NameObjects are what the operator has set (deploy.KeyDomain,
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
	setDefault(&o.Limit, 8)
	setDefault(&o.Idle, 15*time.Minute)
	setDefault(&o.StartTimeout, 30*time.Second)
	setDefault(&o.StopTimeout, 5*time.Second)
	setDefault(&o.KeyDomain, deploy.Domain)
	setDefault(&o.FieldManager, "operkit")
	setDefault(&o.Logger, slog.Default())
	return o, nil
}

func setDefault[T comparable](value *T, byDefault T) {
	var zero T
	if *value == zero {
		*value = byDefault
	}
}
