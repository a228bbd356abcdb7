package reconcile

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/logging"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// prepare reads the version, its files, the configuration and the patches for Setup.
func (r *Reconciler) prepare(ctx context.Context, s *Session) (err error) {
	if s.version = s.fixedVersion; s.version == "" {
		if s.version, err = r.options.versionOf(s.described); err != nil {
			return err
		}
	}
	if err := r.options.checkVersion(s); err != nil {
		return err
	}
	if err := r.openAssets(ctx, s); err != nil {
		return fmt.Errorf("version %s: %w", s.version, err)
	}
	if err := r.configure(ctx, s); err != nil {
		return err
	}
	if err := r.findPatches(ctx, s); err != nil {
		return err
	}
	if err := r.upgrade(ctx, s); err != nil {
		return fmt.Errorf("upgrade from %s to %s: %w", s.CurrentVersion(), s.version, err)
	}
	return nil
}

// findPatches reads the patches of the resource.
func (r *Reconciler) findPatches(ctx context.Context, s *Session) error {
	for _, patcher := range r.options.patchers {
		patches, err := patching.Find(ctx, patcher, patching.Target{Resource: s.resource, View: r.manager.View(), DryRun: s.dryRun, Logger: s.logger})
		if err != nil {
			return err
		}
		s.patches = append(s.patches, patches...)
	}
	return nil
}

// upgrade calls the controller's Upgrade when the version changes.
func (r *Reconciler) upgrade(ctx context.Context, s *Session) error {
	upgrader, ok := r.controller.(Upgrader)
	from := s.CurrentVersion()
	if !ok || from == "" || s.version == "" || from == s.version {
		return nil
	}
	return failure.Guard(func() error { return upgrader.Upgrade(ctx, s, from, s.version) })
}

// Version returns the version that the resource wants, empty if it wants none.
func (s *Session) Version() string { return s.version }

// CurrentVersion returns the version that the resource last reached, from its status; empty if there is none yet.
func (s *Session) CurrentVersion() string {
	content, _ := s.resource.Object["status"].(map[string]any)
	return status.ReconciledVersion(content)
}

// versionOf reads the version that a resource wants.
func (o *options) versionOf(described *unstructured.Unstructured) (string, error) {
	if o.versionOverride != "" {
		return o.versionOverride, nil
	}
	version, _, err := unstructured.NestedString(described.Object, strings.Split(o.versionField, ".")...)
	if err != nil {
		return "", request.Configuration("%s: %s is no text: quote it", deploy.RefOf(described), o.versionField)
	}
	return version, nil
}

// checkVersion applies StrictVersions.
func (o *options) checkVersion(s *Session) error {
	if !o.strict || slices.ContainsFunc(o.exempt, func(pattern string) bool { return matches(pattern, s.Kind().Kind) }) {
		return nil
	}
	switch {
	case s.version == "":
		return request.Configuration("%s: %s is missing: choose one of %s", deploy.RefOf(s.resource), o.versionField, strings.Join(o.supported, ", "))
	case !slices.Contains(o.supported, s.version):
		return request.Configuration("%s: version %q isn't supported: choose one of %s", deploy.RefOf(s.resource), s.version, strings.Join(o.supported, ", "))
	}
	return nil
}

func matches(pattern, kind string) bool {
	ok, err := path.Match(pattern, kind)
	return err == nil && ok
}

// Assets opens the files of versions: templates, manifests, schemas. Implementations must be safe for concurrent use.
type Assets interface {
	// Open returns the files of the session's Version. It is called before Setup. The files must not change until
	// release is called; release may be nil. files may be nil for a resource without files. request.Configuration means
	// that there is no such version.
	Open(ctx context.Context, s *Session) (files fs.FS, release func(), err error)
}

// Assets returns the files of the version that the resource wants (WithAssets), nil if there are none. Don't use them
// after the reconcile has ended. A missing version doesn't block a deletion: Finalize is called, and opening a file
// returns an error there.
func (s *Session) Assets() fs.FS { return s.assets }

// openAssets opens the files of the session's version.
func (r *Reconciler) openAssets(ctx context.Context, s *Session) error {
	if r.options.assets == nil {
		return nil
	}
	return failure.Guard(func() (err error) {
		var release func()
		if s.assets, release, err = r.options.assets.Open(ctx, s); release != nil {
			s.Cleanup(release)
		}
		return err
	})
}

// missing is a file system in which no file can be opened. Its errors wrap why.
type missing struct{ why error }

// Open implements fs.FS.
func (m missing) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: m.why}
}

// Channel is the attribute of a logger by which the annotation <domain>/log-filters tells parts of an
// operator apart: s.Logger().With(reconcile.Channel, "billing").
const Channel = logging.Channel

// logged names the resource in log lines: by kind and name in text logs, and by more fields in JSON logs.
type logged struct {
	deploy.Ref
	resourceVersion string
}

// MarshalJSON implements json.Marshaler.
func (d logged) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		APIVersion      string `json:"apiVersion"`
		Kind            string `json:"kind"`
		Namespace       string `json:"namespace,omitempty"`
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion,omitempty"`
	}{d.Kind.GroupVersion().String(), d.Kind.Kind, d.Namespace, d.Name, d.resourceVersion})
}

// LoggerOf returns the logger of the reconcile that ctx belongs to, slog.Default if ctx belongs to none.
func LoggerOf(ctx context.Context) *slog.Logger {
	if logger, ok := ctx.Value(loggerKey{}).(*slog.Logger); ok {
		return logger
	}
	return slog.Default()
}

type loggerKey struct{}
