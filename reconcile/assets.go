package reconcile

import (
	"context"
	"io/fs"
)

// Assets are the files of the versions that resources want: templates, manifests, schemas. It is safe for concurrent use.
type Assets interface {
	// Open returns the files for a session, by its Version, before its Setup. They must stay as they are until release is called, which may be
	// nil. Nil files are for resources that have none. An error that Configuration makes says that there is no such version.
	Open(ctx context.Context, s *Session) (files fs.FS, release func(), err error)
}

// WithAssets gives each session the files of its version, see Session.Assets. Several versions are open at once, each in sessions of its own.
func WithAssets(assets Assets) Option { return func(o *options) { o.assets = assets } }

// Assets returns the files of the version that the resource wants (WithAssets): those of exactly that version, whatever others are used at the
// same time. They are gone when the reconcile has ended. Nil if there are none for the resource. In Finalize, where a version that isn't
// there any more must not hold a deletion up, each file is then an error that says why.
func (s *Session) Assets() fs.FS { return s.assets }

// openAssets has the session have the files of its version.
func (r *Reconciler) openAssets(ctx context.Context, s *Session) error {
	if r.options.assets == nil {
		return nil
	}
	return guarded(func() (err error) {
		s.assets, s.releaseAssets, err = r.options.assets.Open(ctx, s)
		return err
	})
}

// missing are files that aren't there.
type missing struct{ why error }

// Open implements fs.FS.
func (m missing) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: m.why}
}
