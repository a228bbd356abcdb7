package proxy

import (
	"context"
	"maps"

	"github.com/operkit/operkit/tools/release/internal/publication"
	"github.com/operkit/operkit/tools/release/internal/repository"
)

// Option is one of [Fill].
type Option func(*settings)

type settings struct{ versions map[string]string }

// Versions gives modules, by their paths, versions such as v0.1.0. The default is one that all modules share and that
// can't be mistaken for a release: v0.0.0-TIME-HASH, of the time of the last commit and the contents of all modules. Several
// of this option add up.
func Versions(versions map[string]string) Option {
	return func(s *settings) { maps.Copy(s.versions, versions) }
}

// Fill writes every released module of the git repository whose top folder is root to the file-system module proxy in
// dir, which is made when it isn't there, and gives the versions by module paths. The modules are as the working tree has
// them: files that git ignores and nested modules are left out, requirements of siblings name their versions, lines that
// replace siblings are gone. The working tree isn't changed and no network is asked.
//
// Versions that dir has already stay; the same contents give the same version and the same bytes. Each file appears as a
// whole, so that several processes may fill one folder. It is an error, and nothing is written, when a released module
// requires one of the repository that isn't released, or when modules require each other in a circle.
func Fill(ctx context.Context, root, dir string, options ...Option) (map[string]string, error) {
	s := settings{versions: map[string]string{}}
	for _, option := range options {
		option(&s)
	}
	r, err := repository.At(root)
	if err != nil {
		return nil, err
	}
	modules, err := publication.FromTree(ctx, r, s.versions)
	if err != nil {
		return nil, err
	}
	at, err := r.Git().Time(ctx)
	if err != nil {
		return nil, err
	}
	versions := map[string]string{}
	for _, m := range modules {
		versions[m.Path] = m.Version
	}
	return versions, publication.Write(dir, modules, at)
}
