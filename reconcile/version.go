package reconcile

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Version returns the version that the resource wants, empty for none.
func (s *Session) Version() string { return s.version }

// CurrentVersion returns the reconciled version in the status, empty before there is one.
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
	// release, which may be nil, is called. files may be nil for a resource without any. request.Configuration means
	// that there is no such version.
	Open(ctx context.Context, s *Session) (files fs.FS, release func(), err error)
}

// Assets returns the files of the version that the resource wants (WithAssets), nil if there are none. Don't use them
// after the reconcile has ended. A missing version must not block a deletion: in Finalize opening any of its files then
// returns an error.
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

// missing is a file system in which no file can be opened, because of why.
type missing struct{ why error }

// Open implements fs.FS.
func (m missing) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: m.why}
}
