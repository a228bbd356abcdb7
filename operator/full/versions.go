package full

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/operator"
	"github.com/operkit/operkit/operator/config"
	"github.com/operkit/operkit/operator/full/assets"
	"github.com/operkit/operkit/operator/internal/settings"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/versions"
	"github.com/operkit/operkit/reconcile/versions/child"
	"github.com/operkit/operkit/vcs"
	"github.com/operkit/operkit/vcs/setupcommand"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// versionSettings are the settings of versions.
type versionSettings struct {
	override, field string
	// The settings of versions as programs.
	directory, entry string
	limit            int
	idle             time.Duration
	// The settings of versions as files.
	repository, destination, within, method string
	tagsOnly                                bool
}

func (v *versionSettings) register(set *pflag.FlagSet) {
	set.StringVar(&v.field, "versions.field", "", "path of the field with the version of a resource (default: the controller's VersionField, or spec.version)")
	set.StringVar(&v.override, "versions.override", "", "version of all resources, instead of the one in the resource")
	set.StringVar(&v.directory, "versions.directory", "", "directory with a folder for each version, which holds its program; resources are then rendered by the program of their version (default: by this one)")
	set.StringVar(&v.entry, "versions.entry", "", "path of the program in the folder of a version (default: the operator's name)")
	set.IntVar(&v.limit, "versions.limit", 8, "most versions that run at once")
	config.DurationVar(set, &v.idle, "versions.idle", 15*time.Minute, "time after which an unused version is stopped; it should be longer than watch.period")
	set.StringVar(&v.repository, "vcs.repository", "", "git repository with the files of each version, for Session.Assets (default: none)")
	set.StringVar(&v.destination, "vcs.destination", "", "where versions are checked out, such as /var/cache/versions/{version}")
	set.StringVar(&v.within, "vcs.directory", "", "directory of a version that sessions get (default: the whole version)")
	set.StringVar(&v.method, "vcs.method", string(vcs.Worktree), "worktree: files only, or clone: a repository")
	set.BoolVar(&v.tagsOnly, "vcs.tags-only", false, "ignore branches; without this, branches are versions, too")
}

// extension extends the operator by the settings.
func (v *versionSettings) extension(ctx context.Context, p operator.Process) (e operator.Extension, err error) {
	if v.field != "" {
		e.Reconciler = append(e.Reconciler, reconcile.VersionField(v.field))
	}
	if v.override != "" {
		e.Reconciler = append(e.Reconciler, reconcile.VersionOverride(v.override))
	}
	var closing []func()
	e.Close = func(context.Context) error {
		for _, end := range closing {
			end()
		}
		return nil
	}
	var offered []string
	if v.repository != "" {
		files, err := v.open(ctx, p)
		if err != nil {
			return e, err
		}
		closing = append(closing, files.Close)
		if offered, err = files.Versions(ctx); err != nil {
			return e, err
		}
		e.Reconciler = append(e.Reconciler, reconcile.WithAssets(files))
	} else if v.destination != "" {
		return e, fmt.Errorf("vcs.destination %q: it needs vcs.repository", v.destination)
	}
	if v.directory != "" {
		pool, err := v.start(ctx, p)
		if err != nil {
			return e, err
		}
		closing = append(closing, pool.Close)
		e.Controllers, e.Collectors = pool.Controllers(), []prometheus.Collector{versionMetrics{pool}}
		offered = pool.Versions()
	}
	if len(offered) > 0 {
		e.Reconciler = append(e.Reconciler, reconcile.SupportedVersions(offered...))
	}
	return e, nil
}

// open opens the repository with the files of versions.
func (v *versionSettings) open(ctx context.Context, p operator.Process) (*assets.Assets, error) {
	files, err := assets.Open(ctx, assets.Options{
		Repository: v.repository, Destination: v.destination, Directory: v.within, Method: vcs.Method(v.method), TagsOnly: v.tagsOnly,
		Exempt: p.Config.Versions.Exempt,
	})
	if err != nil {
		return nil, fmt.Errorf("vcs: %w", err)
	}
	return files, nil
}

// start starts the programs of versions.
func (v *versionSettings) start(ctx context.Context, p operator.Process) (*versions.Pool, error) {
	return versions.Start(ctx, versions.Options{
		Directory: v.directory, Entry: cmp.Or(v.entry, p.Operator), Limit: v.limit, Idle: v.idle, Logger: p.Logger, KeyDomain: p.Domain, FieldManager: p.FieldManager,
		DefaultNamespace: p.DefaultNamespace, NameObjects: p.Config.Objects.InternalNames, Environment: p.Environment,
	})
}

// serveVersion is the command by which another release runs this program as one of its versions.
func serveVersion(open operator.Opener) *cobra.Command {
	return &cobra.Command{
		Use:    "serve-version",
		Short:  "Render for a manager that runs this program as one of its versions",
		Hidden: true,
		// The settings may have been written for another release.
		Annotations: map[string]string{settings.Tolerant: ""},
		Args:        cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := open(cmd)
			if err != nil {
				return err
			}
			return child.Serve(cmd.Context(), p.Version, p.Controllers, child.With(p.Options))
		},
	}
}

// setupVCS is the command that makes a repository of versions.
func setupVCS(operator.Opener) *cobra.Command { return setupcommand.New() }
