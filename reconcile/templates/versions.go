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

// Versions are the templates of a folder in several versions: those of reconcile.Session.Assets. Each version is parsed
// when it is first asked for. It is safe for concurrent use.
type Versions struct {
	folder  string
	options []Option

	mu sync.Mutex
	// parsed are by the key of their version's files, in the order in which they came.
	parsed map[any]*parsedVersion
	order  []any
}

// parsedVersion is one version, once it is parsed.
type parsedVersion struct {
	once      sync.Once
	templates *Templates
	err       error
}

// keptVersions is how many versions are kept; a further one replaces the oldest.
const keptVersions = 64

// OfVersions returns the templates of a folder, "." for all files of a version.
func OfVersions(folder string, opts ...Option) *Versions {
	return &Versions{folder: folder, options: opts, parsed: map[any]*parsedVersion{}}
}

// For returns the templates of the version that the session's resource wants. Files that can't be parsed, or are none,
// and a folder that isn't there, are an error of the kind that request.Configuration makes: another version may do
// better. Files that can't be read are read again when they are asked for again.
func (v *Versions) For(s *reconcile.Session) (*Templates, error) {
	files := s.Assets()
	if files == nil {
		return nil, errors.New("templates: the session has no files of a version: give the reconciler the option WithAssets")
	}
	key := keyOf(files)
	one := v.of(key)
	if one == nil { // nothing tells these files from others
		one = &parsedVersion{}
	}
	one.once.Do(func() { one.templates, one.err = Parse(files, v.folder, v.options...) })
	if one.err == nil {
		return one.templates, nil
	}
	var unread *readError
	if errors.As(one.err, &unread) {
		v.forget(key, one)
		if unread.passes() {
			return nil, fmt.Errorf("version %s: %w", s.Version(), one.err)
		}
	}
	return nil, request.Configuration("version %s: %w", s.Version(), one.err)
}

// keyOf is what tells the files of a version from those of others, nil for nothing.
func keyOf(files fs.FS) any {
	if !reflect.ValueOf(files).Comparable() {
		return nil
	}
	return files
}

// forget has a version parsed again, unless another one has its place by now.
func (v *Versions) forget(key any, one *parsedVersion) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if key != nil && v.parsed[key] == one {
		delete(v.parsed, key)
		v.order = slices.DeleteFunc(v.order, func(other any) bool { return other == key })
	}
}

func (v *Versions) of(key any) *parsedVersion {
	if key == nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	one := v.parsed[key]
	if one == nil {
		one = &parsedVersion{}
		v.parsed[key] = one
		if v.order = append(v.order, key); len(v.order) > keptVersions {
			delete(v.parsed, v.order[0])
			v.order = v.order[1:]
		}
	}
	return one
}
