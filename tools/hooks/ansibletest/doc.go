// Package ansibletest has the tests of hooks that need Ansible: they run playbooks with the real ansible-playbook. It has
// only tests.
//
// Put a test here if it is about what Ansible does. All others belong next to the code, with a stand-in for
// ansible-playbook.
package ansibletest
