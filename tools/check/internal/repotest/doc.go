// Package repotest writes small repositories of the shape of this one to temporary folders, for tests.
package repotest
