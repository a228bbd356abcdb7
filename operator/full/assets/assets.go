package assets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/vcs"
)

// Options are the options of Open. Repository and Destination are required.
type Options struct {
	// Repository is the path of a git repository.
	Repository string
	// Destination is the template of the paths of checkouts, see vcs.Template.
	Destination string
	// Directory is a directory within a version: sessions get only its files. Empty means all files of the version.
	Directory string
	// Method is vcs.Worktree by default.
	Method vcs.Method
	// TagsOnly ignores branches. If it is false, branches are versions, too.
	TagsOnly bool
	// Exempt are patterns, as for path.Match, of the names of kinds that have no version; default "TemporaryPatch*".
	Exempt []string
}

// Assets are the versions of a repository. It is safe for concurrent use.
type Assets struct {
	options     Options
	repository  *vcs.Repository
	destination *vcs.Template

	mu sync.Mutex
	// known are the versions as they were last read.
	known []vcs.Version
	// inUse counts the sessions that use a checkout, by its absolute path.
	inUse map[string]int

	// pruning is held while checkouts are removed, and while a session begins to use one.
	pruning sync.Mutex
}

// Open opens the repository. The error holds all mistakes in the options.
func Open(ctx context.Context, options Options) (*Assets, error) {
	options.Method = cmp.Or(options.Method, vcs.Worktree)
	if options.Exempt == nil {
		options.Exempt = []string{"TemporaryPatch*"}
	}
	var errs []error
	if options.Repository == "" {
		errs = append(errs, errors.New("versions: no repository is given"))
	}
	if options.Method != vcs.Worktree && options.Method != vcs.Clone {
		errs = append(errs, fmt.Errorf("versions: method %q: use %s or %s", options.Method, vcs.Worktree, vcs.Clone))
	}
	if options.Directory != "" && !filepath.IsLocal(options.Directory) {
		errs = append(errs, fmt.Errorf("versions: directory %q: must be a path within the version", options.Directory))
	}
	for _, pattern := range options.Exempt {
		if _, err := path.Match(pattern, ""); err != nil {
			errs = append(errs, fmt.Errorf("versions: exempt %q: %w", pattern, err))
		}
	}
	destination, err := vcs.ParseTemplate(options.Destination)
	if err != nil {
		errs = append(errs, err)
	}
	a := &Assets{options: options, destination: destination, inUse: map[string]int{}}
	if options.Repository != "" {
		if a.repository, err = vcs.Open(options.Repository); err != nil {
			errs = append(errs, err)
		} else if _, err := a.read(ctx); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Close closes the repository. Checkouts stay.
func (a *Assets) Close() {
	if a.repository != nil {
		_ = a.repository.Close() // it was only read
	}
}

// read reads the versions of the repository.
func (a *Assets) read(ctx context.Context) ([]vcs.Version, error) {
	kinds := []vcs.Kind{vcs.Tag, vcs.Branch}
	if a.options.TagsOnly {
		kinds = kinds[:1]
	}
	found, err := a.repository.SupportedVersions(ctx, kinds...)
	if err != nil {
		return nil, forResource(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known = found
	return found, nil
}

// Versions returns the numbers of the versions of the repository, ascending.
func (a *Assets) Versions(ctx context.Context) ([]string, error) {
	found, err := a.read(ctx)
	return numbersOf(found), err
}

func numbersOf(versions []vcs.Version) []string {
	numbers := make([]string, len(versions))
	for i, version := range versions {
		numbers[i] = version.Number
	}
	return numbers
}

// find finds a version by its number in any spelling. It reads the repository again if it doesn't know the version.
func (a *Assets) find(ctx context.Context, version string) (vcs.Version, error) {
	number, _ := vcs.CanonicalVersion(version)
	among := func(versions []vcs.Version) int {
		return slices.IndexFunc(versions, func(v vcs.Version) bool { return v.Number == number })
	}
	a.mu.Lock()
	found := a.known
	a.mu.Unlock()
	if at := among(found); at >= 0 {
		return found[at], nil
	}
	found, err := a.read(ctx)
	if err != nil {
		return vcs.Version{}, err
	}
	if at := among(found); at >= 0 {
		return found[at], nil
	}
	offered := strings.Join(numbersOf(found), ", ")
	if version == "" {
		return vcs.Version{}, request.Configuration("the resource names no version: choose one of %s", offered)
	}
	return vcs.Version{}, request.Configuration("the repository has no version %q: choose one of %s", version, offered)
}

// exempt reports whether a kind has no version.
func (a *Assets) exempt(kind string) bool {
	return slices.ContainsFunc(a.options.Exempt, func(pattern string) bool {
		ok, _ := path.Match(pattern, kind)
		return ok
	})
}

// Open implements reconcile.Assets. It checks out the version of the resource unless the checkout exists.
func (a *Assets) Open(ctx context.Context, s *reconcile.Session) (fs.FS, func(), error) {
	if a.exempt(s.Kind().Kind) {
		return nil, nil, nil
	}
	version, err := a.find(ctx, s.Version())
	if err != nil {
		return nil, nil, err
	}
	where, err := a.destination.Render(vcs.Values{
		Version: version.Number, Kind: s.Kind().Kind, APIVersion: s.Kind().GroupVersion().String(), Namespace: s.Namespace(), Name: s.Name(),
		Object: s.Resource().Object,
	})
	if err != nil {
		return nil, nil, forResource(err)
	}
	commit, err := a.repository.Resolve(ctx, version.Ref.Full)
	if err != nil {
		return nil, nil, forResource(err)
	}
	if version.Ref.Kind == vcs.Branch {
		where += "@" + string(commit[:12]) // a branch moves, but a checkout must not change
	}
	if where, err = filepath.Abs(where); err != nil {
		return nil, nil, err
	}
	release := a.use(where)
	files, err := a.checkout(ctx, commit, where)
	if err != nil {
		release()
		return nil, nil, forResource(err)
	}
	return files, release, nil
}

// checkout checks a commit out into a folder and returns its files.
func (a *Assets) checkout(ctx context.Context, commit vcs.Commit, where string) (fs.FS, error) {
	checkout, err := a.repository.Checkout(ctx, string(commit), where, a.options.Method, vcs.ReadOnly())
	if err != nil {
		return nil, err
	}
	within := filepath.Join(checkout.Path, a.options.Directory)
	if info, err := os.Stat(within); err != nil || !info.IsDir() {
		return nil, &vcs.ConfigError{Op: "open", Subject: within, Err: errors.New("the version has no such directory")}
	}
	return os.DirFS(within), nil
}

// use keeps a checkout from being pruned until release is called.
func (a *Assets) use(where string) (release func()) {
	a.pruning.Lock()
	defer a.pruning.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inUse[where]++
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.inUse[where]--; a.inUse[where] == 0 {
			delete(a.inUse, where)
		}
	})
}

// forResource translates an error of package vcs for a reconcile: a wrong configuration, or a reason to retry later.
func forResource(err error) error {
	var config *vcs.ConfigError
	var contention *vcs.ContentionError
	switch {
	case errors.As(err, &config):
		return request.Configuration("%w", err)
	case errors.As(err, &contention):
		return request.RetryAfter(contention.RetryAfter, request.Passing(request.Precondition("%w", err)))
	}
	return err
}

// Prune removes the checkouts that no session uses and for whose absolute path wanted returns false. It returns the
// removed checkouts. Sessions that begin meanwhile wait.
func (a *Assets) Prune(ctx context.Context, wanted func(path string) bool) ([]string, error) {
	a.pruning.Lock()
	defer a.pruning.Unlock()
	return vcs.Prune(ctx, a.destination.Base(), func(where string) bool {
		a.mu.Lock()
		used := a.inUse[where] > 0
		a.mu.Unlock()
		return used || wanted(where)
	})
}
