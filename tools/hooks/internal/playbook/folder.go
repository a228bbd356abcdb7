package playbook

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// callback is the plugin that writes the events.
//
//go:embed callback/operkit_events.py
var callback []byte

// folder is the folder of one run, which is gone after it. Only the user of this process may read it.
type folder string

// The files of a folder.
const (
	inventoryFile  = "hosts"
	variablesFile  = "variables.json"
	kubeconfigFile = "kubeconfig"
	roleFile       = "role.json"
	pluginsFolder  = "callback"
	homeFolder     = "home"
	tempFolder     = "tmp"
	workFolder     = "work"
)

// path returns the path of a file or folder in the folder.
func (f folder) path(name string) string { return filepath.Join(string(f), name) }

// marker is the entry by which processes of the run are known.
func (f folder) marker() string { return "TMPDIR=" + f.path(tempFolder) }

// newFolder makes the folder of a run. The folder has to be removed if it isn't empty, also after an error.
func (r *Runner) newFolder(in *Input) (folder, error) {
	variables, err := in.variables()
	if err != nil {
		return "", err
	}
	extra, err := json.Marshal(variables)
	if err != nil {
		return "", fmt.Errorf("variables: %w", err)
	}
	path, err := os.MkdirTemp(r.running(), "run-")
	if err != nil {
		return "", err
	}
	f := folder(path)
	for _, name := range []string{pluginsFolder, homeFolder, tempFolder, workFolder, filepath.Join(homeFolder, ".ansible")} {
		err = errors.Join(err, os.Mkdir(f.path(name), 0o700))
	}
	files := map[string][]byte{
		variablesFile: extra,
		inventoryFile: fmt.Appendf(nil, "localhost ansible_connection=local ansible_python_interpreter=%q\n", r.config.Python),
		filepath.Join(pluginsFolder, "operkit_events.py"): callback,
	}
	if in.Kubeconfig != nil {
		files[kubeconfigFile] = in.Kubeconfig
	}
	if role := in.Entry.SourceOf(in.Finalizes).Role; role != "" {
		files[roleFile], _ = json.Marshal([]any{map[string]any{"hosts": "localhost", "roles": []any{filepath.Base(role)}}}) // of texts
	}
	for name, content := range files {
		err = errors.Join(err, os.WriteFile(f.path(name), content, 0o600))
	}
	return f, errors.Join(err, f.linkHome(r.config.Lookup))
}

// linkHome has the roles, the collections, the plugins and the settings that the user of this process has installed in
// the home of the run.
func (f folder) linkHome(lookup func(string) (string, bool)) (err error) {
	home, _ := lookup("HOME")
	if home == "" {
		return nil
	}
	for _, name := range []string{".ansible.cfg", ".ansible/roles", ".ansible/collections", ".ansible/plugins"} {
		if _, missing := os.Stat(filepath.Join(home, name)); missing == nil {
			err = errors.Join(err, os.Symlink(filepath.Join(home, name), filepath.Join(f.path(homeFolder), name)))
		}
	}
	return err
}

// remove deletes the folder, the files with credentials first.
func (f folder) remove() error {
	if f == "" {
		return nil
	}
	var errs []error
	for _, name := range []string{kubeconfigFile, variablesFile} {
		if err := os.Remove(f.path(name)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, removeAll(string(f)))...)
}

// removeAll deletes a folder, also one in which a run has taken rights away.
func removeAll(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(at string, entry fs.DirEntry, _ error) error {
		if entry != nil && entry.IsDir() {
			_ = os.Chmod(at, 0o700) // before it is read, or after that has failed
		}
		return nil
	})
	return os.RemoveAll(path)
}
