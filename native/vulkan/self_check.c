/* placeholder until the cpu backend stands */
typedef int heed_vk_self_check_unit;
