package vcs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/config"
)

// Repository is a git repository, open for reading. It is safe for concurrent use.
type Repository struct {
	path string
	// own is the folder with the repository's own files. The folder of store has the files that all work trees share.
	own *os.Root
	*reader
}

// Open opens the repository at exactly this path, bare or not. It doesn't search parent folders. If the path is a
// linked work tree, Open opens its main repository, with the HEAD of the work tree. It reads no git configuration of
// the user or the machine. Errors are *ConfigError.
func Open(path string) (*Repository, error) {
	refused := func(err error) (*Repository, error) { return nil, &ConfigError{"open", path, err} }
	own, common, err := find(path)
	if err != nil {
		return refused(err)
	}
	r := &Repository{path: path}
	if r.own, err = os.OpenRoot(own); err != nil {
		return refused(err)
	}
	root, err := os.OpenRoot(cmp.Or(common, own))
	if err != nil {
		return refused(errors.Join(err, r.own.Close()))
	}
	r.reader = newReader(&store{root: root}, maxCached, math.MaxInt64)
	if err := supported(root); err != nil {
		return refused(errors.Join(err, r.Close()))
	}
	return r, nil
}

// Close closes the repository. Don't use the repository afterwards.
func (r *Repository) Close() error {
	return errors.Join(r.store.close(), r.store.root.Close(), r.own.Close())
}

// Path returns the path that the repository was opened with.
func (r *Repository) Path() string { return r.path }

// find returns the folder with a repository's own files. For a linked work tree, it also returns the common folder that
// all work trees share; it is empty otherwise.
func find(path string) (own, common string, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", errors.New("there is no such folder")
	case err != nil:
		return "", "", err
	case !info.IsDir():
		return "", "", errors.New("it isn't a folder")
	}
	own = path
	if inside := filepath.Join(path, ".git"); !isRepository(path) {
		if own, err = followed(inside); err != nil {
			return "", "", err
		}
	}
	shared, err := readLine(filepath.Join(own, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return own, "", nil
	}
	if err != nil {
		return "", "", err
	}
	common = shared
	if !filepath.IsAbs(common) {
		common = filepath.Join(own, common)
	}
	if !isFolder(filepath.Join(common, "objects")) {
		return "", "", fmt.Errorf("it is a work tree, and its repository isn't in %s", common)
	}
	return own, common, nil
}

// followed returns the path of the folder .git, or of the folder that the file .git names.
func followed(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("it isn't a git repository")
	}
	if err != nil || info.IsDir() {
		if err == nil && !isRepository(path) {
			err = errors.New("its .git isn't a git repository")
		}
		return path, err
	}
	text, err := readLine(path)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok {
		return "", errors.New("its file .git names no repository")
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	if !isFolder(target) {
		return "", fmt.Errorf("its file .git names a folder that doesn't exist: %s", target)
	}
	return target, nil
}

// readLine reads a file that holds a path.
func readLine(path string) (string, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	if file, err = onlyFile(file); err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxPath))
	return strings.TrimSpace(string(text)), errors.Join(err, file.Close())
}

func isRepository(path string) bool {
	head, err := os.Lstat(filepath.Join(path, "HEAD"))
	return err == nil && !head.IsDir() && isFolder(filepath.Join(path, "objects")) && isFolder(filepath.Join(path, "refs"))
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// harmless are extensions of the repository format that don't affect readers.
var harmless = []string{"noop", "noop-v1", "preciousobjects", "worktreeconfig", "partialclone", "relativeworktrees"}

// maxConfig is the maximum length of a repository's configuration, in bytes.
const maxConfig = 1 << 20

// supported returns an error if this package can't read the repository.
func supported(root *os.Root) error {
	switch info, err := root.Stat("objects/info/alternates"); {
	case err == nil && info.Size() > 0:
		return errors.New("its file objects/info/alternates names another repository with more objects: copy them with 'git repack -a -d' and remove that file")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	file, err := openFile(root, "config")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var read *config.Config
	if err == nil {
		read, err = config.ReadConfig(io.LimitReader(file, maxConfig))
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return fmt.Errorf("its configuration can't be read: %w", err)
	}
	core, extensions := read.Raw.Section("core"), read.Raw.Section("extensions")
	if version := core.Option("repositoryformatversion"); version != "" && version != "0" && version != "1" {
		return fmt.Errorf("its format has version %s: only 0 and 1 can be read", version)
	}
	for _, option := range extensions.Options {
		key, value := strings.ToLower(option.Key), strings.ToLower(option.Value)
		switch {
		case key == "objectformat" && value == "sha1", key == "refstorage" && value == "files", slices.Contains(harmless, key):
		case key == "refstorage":
			return fmt.Errorf("its references are kept as %s: convert it with 'git refs migrate --ref-format=files'", value)
		case key == "objectformat":
			return fmt.Errorf("its objects are named by %s: only sha1 can be read", value)
		default:
			return fmt.Errorf("its format has the unknown extension %s", option.Key)
		}
	}
	return nil
}
