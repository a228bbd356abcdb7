// Package program builds operators, runs them as processes, and tells what they take of the machine: processor time and
// memory of their own, as the kernel counts them. It needs Linux.
package program
