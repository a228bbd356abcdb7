package repository

// Group is packages that one go command can read.
type Group struct {
	// Subject names them in messages.
	Subject string
	// Folder is where the command runs, Environ its environment, and Patterns name the packages there.
	Folder            string
	Environ, Patterns []string
}

// Groups gives the packages of modules as they are built and tested: those of the workspace together and each other module
// by itself, since packages can have other versions there. Modules without a Go file are left out.
func (r *Repository) Groups(modules []Module) []Group {
	workspace := Group{Subject: "the workspace", Folder: r.Root, Environ: r.WorkspaceEnviron()}
	var groups []Group
	for _, m := range modules {
		switch {
		case !m.HasPackages(r.Root):
		case m.InWorkspace():
			workspace.Patterns = append(workspace.Patterns, "./"+m.Dir+"/...")
		default:
			groups = append(groups, Group{Subject: m.Dir, Folder: r.Folder(m), Environ: r.Environ(m), Patterns: []string{"./..."}})
		}
	}
	if len(workspace.Patterns) > 0 {
		groups = append([]Group{workspace}, groups...)
	}
	return groups
}
