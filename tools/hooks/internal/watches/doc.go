// Package watches reads the file watches.yaml of the Ansible operator: which playbook or role reconciles the resources of
// a kind, and how.
//
// The fields, their defaults and the search for roles are those of the Ansible operator. These differ:
//   - Mistakes are errors, and all of them are reported at once: unknown fields, playbooks and roles that don't exist,
//     both a playbook and a role, two entries for one kind in whatever versions, numbers in variables of the environment
//     that aren't numbers.
//   - Relative paths are relative to the folder of the file, instead of the working folder.
//   - The default of markUnsafe is true: the texts of a resource aren't templates.
//   - The fields serviceAccount and manages are added. Without a serviceAccount, a run has no access to the API.
//   - A reference such as $HOME to a variable that isn't set stays as it is.
package watches
