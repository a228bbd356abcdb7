package templates

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"sync"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
)

// Versions has the templates of a folder in the files of each version, see reconcile.Session.Assets. A version is
// parsed when it is first needed. It is safe for concurrent use.
type Versions struct {
	folder  string
	options []Option

	mu sync.Mutex
	// parsed are the versions by the keys of their files. keys are these keys, in the order in which the versions were
	// parsed.
	parsed map[any]*parsedVersion
	order  []any
}

// parsedVersion is one version. parse parses it once.
type parsedVersion struct{ parse func() (*Templates, error) }

// keptVersions is how many versions are kept; a further version replaces the oldest one.
const keptVersions = 64

// OfVersions returns Versions for a folder, "." for all files of a version.
func OfVersions(folder string, opts ...Option) *Versions {
	return &Versions{folder: folder, options: opts, parsed: map[any]*parsedVersion{}}
}

// For returns the templates of the version that the session's resource wants. If the files can't be parsed, or the
// folder is missing or has no templates, the error is a request.Configuration error, since another version may work.
// Files that can't be read are read again by the next call.
func (v *Versions) For(s *reconcile.Session) (*Templates, error) {
	files := s.Assets()
	if files == nil {
		return nil, errors.New("templates: the session has no files of a version: give the reconciler the option WithAssets")
	}
	key := keyOf(files)
	one := v.of(key, files)
	templates, err := one.parse()
	if err == nil {
		return templates, nil
	}
	if unread, ok := errors.AsType[*readError](err); ok {
		v.forget(key, one)
		if unread.passes() {
			return nil, fmt.Errorf("version %s: %w", s.Version(), err)
		}
	}
	return nil, request.Configuration("version %s: %w", s.Version(), err)
}

// keyOf returns a key that identifies the files of a version, nil if they have no key.
func keyOf(files fs.FS) any {
	if !reflect.ValueOf(files).Comparable() {
		return nil
	}
	return files
}

// forget removes a parsed version, so that it is parsed again, unless it was replaced meanwhile.
func (v *Versions) forget(key any, one *parsedVersion) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if key != nil && v.parsed[key] == one {
		delete(v.parsed, key)
		v.order = slices.DeleteFunc(v.order, func(other any) bool { return other == key })
	}
}

// of returns the version of files. Files without a key aren't cached.
func (v *Versions) of(key any, files fs.FS) *parsedVersion {
	v.mu.Lock()
	defer v.mu.Unlock()
	one := v.parsed[key]
	if one != nil {
		return one
	}
	one = &parsedVersion{sync.OnceValues(func() (*Templates, error) { return Parse(files, v.folder, v.options...) })}
	if key == nil {
		return one
	}
	v.parsed[key] = one
	if v.order = append(v.order, key); len(v.order) > keptVersions {
		delete(v.parsed, v.order[0])
		v.order = v.order[1:]
	}
	return one
}
