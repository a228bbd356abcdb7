package playbook

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operkit/operkit/tools/hooks/internal/watches"
)

// eventsVariable is the variable with the path of the file of the events. The plugin takes it out of the environment.
const eventsVariable = "OPERKIT_ANSIBLE_EVENTS"

// inherited are the variables that a run has from this process: those that say where programs and parts of Ansible are.
var inherited = []string{"PATH", "TZ", "ANSIBLE_CONFIG", "ANSIBLE_GATHERING", "ANSIBLE_VAULT_PASSWORD_FILE"}

// inheritedPaths are variables with lists of folders, which are relative to the working folder of this process.
var inheritedPaths = []string{
	"ANSIBLE_COLLECTIONS_PATH", "ANSIBLE_COLLECTIONS_PATHS", "ANSIBLE_ROLES_PATH", "ANSIBLE_LIBRARY", "ANSIBLE_MODULE_UTILS",
	"ANSIBLE_ACTION_PLUGINS", "ANSIBLE_CALLBACK_PLUGINS", "ANSIBLE_FILTER_PLUGINS", "ANSIBLE_LOOKUP_PLUGINS",
	"ANSIBLE_TEST_PLUGINS", "ANSIBLE_VARS_PLUGINS",
}

// defaultRoles is where Ansible searches roles without other settings.
const defaultRoles = "~/.ansible/roles:/usr/share/ansible/roles:/etc/ansible/roles"

// environment returns the environment of a run.
func (r *Runner) environment(in *Input, f folder, events string) []string {
	variables := map[string]string{
		"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", // without UTF-8, Ansible doesn't run
		"HOME":               f.path(homeFolder),
		"ANSIBLE_LOCAL_TEMP": f.path(tempFolder), "ANSIBLE_REMOTE_TEMP": f.path(tempFolder),
		"ANSIBLE_NOCOLOR": "1", "ANSIBLE_RETRY_FILES_ENABLED": "0", "ANSIBLE_LOCALHOST_WARNING": "0",
		"PYTHONUNBUFFERED": "1",
	}
	for _, name := range inherited {
		if value, ok := r.config.Lookup(name); ok {
			variables[name] = value
		}
	}
	for _, name := range inheritedPaths {
		if value, ok := r.config.Lookup(name); ok && value != "" {
			variables[name] = absolute(value)
		}
	}
	variables["ANSIBLE_CALLBACK_PLUGINS"] = joined(f.path(pluginsFolder), variables["ANSIBLE_CALLBACK_PLUGINS"])
	if first := in.roles(); first != "" {
		variables["ANSIBLE_ROLES_PATH"] = joined(first, cmp.Or(variables["ANSIBLE_ROLES_PATH"], defaultRoles))
	}
	if in.Kubeconfig != nil {
		variables["KUBECONFIG"], variables["K8S_AUTH_KUBECONFIG"] = f.path(kubeconfigFile), f.path(kubeconfigFile)
	}
	for _, entry := range r.config.Env {
		name, value, _ := strings.Cut(entry, "=")
		variables[name] = value
	}
	variables[eventsVariable], variables["TMPDIR"] = events, f.path(tempFolder) // see marker
	all := make([]string, 0, len(variables))
	for name, value := range variables {
		all = append(all, name+"="+value)
	}
	slices.Sort(all)
	return all
}

// roles returns the list of the folders in which a run finds roles first: that of its role, and that beside the file of
// the entry. It may be empty.
func (in *Input) roles() string {
	role := in.Entry.SourceOf(in.Finalizes).Role
	if role == "" {
		return in.Entry.Roles
	}
	if folder := filepath.Dir(role); folder != in.Entry.Roles {
		return joined(folder, in.Entry.Roles)
	}
	return in.Entry.Roles
}

// absolute makes the folders of a list absolute, but those in a home.
func absolute(list string) string {
	folders := filepath.SplitList(list)
	for i, folder := range folders {
		if path, err := filepath.Abs(folder); err == nil && folder != "" && !strings.HasPrefix(folder, "~") {
			folders[i] = path
		}
	}
	return strings.Join(folders, string(filepath.ListSeparator))
}

// joined returns a list that begins with a folder.
func joined(first, list string) string {
	if list == "" {
		return first
	}
	return first + string(filepath.ListSeparator) + list
}

// arguments returns the command of a run.
func (r *Runner) arguments(in *Input, f folder) []string {
	source := in.Entry.SourceOf(in.Finalizes)
	playbook := source.Playbook
	if playbook == "" {
		playbook = f.path(roleFile)
	}
	all := []string{r.config.Command, "--inventory", f.path(inventoryFile), "--extra-vars", "@" + f.path(variablesFile)}
	if in.Verbosity > 0 {
		all = append(all, "-"+strings.Repeat("v", min(in.Verbosity, watches.MaxVerbosity)))
	}
	return append(append(all, r.config.Arguments...), playbook)
}
