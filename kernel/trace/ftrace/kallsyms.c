// SPDX-License-Identifier: GPL-2.0
/*
 * For kallsyms: names of code that is in no symbol table, or in none any more.
 */
#include "sites/names.h"
#include "text/text.h"

/**
 * ftrace_mod_address_lookup - name an address in text that has been freed, or
 * in a trampoline
 * @addr: the address
 * @size: gets the length of the function; this and the next three may be NULL
 * @off: gets the offset of @addr in it
 * @modname: gets the name of its module; good until the caller lets go of RCU
 * @modbuildid: gets NULL
 * @sym: gets the name, KSYM_NAME_LEN at most
 *
 * For kallsyms, once nobody else knows the address.
 *
 * Context: any.
 * Return: the length of the name, 0 if the address is not known here.
 */
int ftrace_mod_address_lookup(unsigned long addr, unsigned long *size,
			      unsigned long *off, char **modname,
			      const unsigned char **modbuildid, char *sym)
{
	int len;

	if (modbuildid)
		*modbuildid = NULL;
	len = ftrace_tramp_lookup(addr, size, off, modname, sym);
	if (!len)
		len = ftrace_gone_lookup(addr, size, off, modname, sym);
	return max(len, 0);
}

/**
 * ftrace_mod_get_kallsym - the n-th function whose text has been freed; after
 * them come the trampolines
 * @symnum: which one, from 0
 * @value: gets its address
 * @type: gets the letter for its kind
 * @name: gets its name, KSYM_NAME_LEN at most
 * @module_name: gets the name of its module, MODULE_NAME_LEN at most
 * @exported: gets 0, it is no export
 *
 * For /proc/kallsyms, so that tools that read a trace find it as well.
 *
 * Context: process.
 * Return: 0, or -ERANGE if there are not that many.
 */
int ftrace_mod_get_kallsym(unsigned int symnum, unsigned long *value,
			   char *type, char *name, char *module_name,
			   int *exported)
{
	*type = 't';
	*exported = 0;
	if (ftrace_gone_nth(&symnum, value, name, module_name) ||
	    ftrace_tramp_nth(symnum, value, name, module_name))
		return 0;
	return -ERANGE;
}
