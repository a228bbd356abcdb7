// Package selector makes the label selector by which a parent finds orphans that it adopts. It is pure.
package selector
