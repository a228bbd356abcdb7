// Package playbook runs playbooks and roles of Ansible: ansible-playbook once for a resource, with the resource as extra
// variables.
//
// The variables are those that the Ansible operator passes, and what ends a run well is the same. These differ:
//   - A run doesn't inherit the environment. It has PATH, settings of Ansible, and what Config names; its HOME and its
//     temporary folders are its own, and gone after the run. There are no variables with which a client would find the
//     API server from inside of a Pod.
//   - A field of the spec whose name as a variable would begin with ansible_ is an error: it would have Ansible run
//     another program, or run elsewhere.
//   - If two fields of an object have the same name in snake_case, the one that is spelled so wins, or else the first in
//     alphabetical order. Ansible's operator takes any.
//   - An unreachable host is a failure. The counts are those of all hosts.
//   - The message of a failed task with a loop has the messages of the items.
//   - A task requeue_after doesn't end the run, but sets the time of the next one.
//   - The folder roles beside watches.yaml is where roles are searched first, also those of playbooks. A roles_path of
//     ansible.cfg has no effect then: set ANSIBLE_ROLES_PATH.
//   - Variables ANSIBLE_INVENTORY and VIRTUAL_ENV have no effect: the inventory is localhost, with the Python of Config.
//
// A run is no prison: it has the rights of the user that runs this process, and may read that user's files. Everything
// that it has started ends with it, also a task with async, unless it has left the process group and its environment.
package playbook
